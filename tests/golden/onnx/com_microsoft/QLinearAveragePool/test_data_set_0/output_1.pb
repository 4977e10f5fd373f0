Buint8_halves_y0JH1 "=/@'E:6@<DN<`_<0RjHE=4,QJ#6tR8aC`S"JA2BT2
>HH1VJ2,IkU0>(1b=BiP0