Buint8_uint8_real_y0J00»GA6<ÕA4oB£>B¨ÆSA®ñA¥¬
B£poBF”ŒA×)BB>/B+öŸB