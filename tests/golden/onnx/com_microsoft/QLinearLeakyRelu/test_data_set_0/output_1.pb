(Buint8_no_zero_y0JP”MH¶!‘¦+JZƒ{7ˆž;°¿d«8>
„e´>ªQ²=‰4 NV š/X¶O
y
¯žw-M>>""€=¬,{  E«i