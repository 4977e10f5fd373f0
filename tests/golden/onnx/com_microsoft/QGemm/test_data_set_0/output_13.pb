Bint8_int8_term_y0Jуы
+шун-р