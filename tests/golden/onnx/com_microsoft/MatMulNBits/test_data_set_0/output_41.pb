Bbits8_64_64_flat_y0JPÜ"jÁ>AÀßÞ³Àëï»Á7HÁ^¤ÁhlâÁÃß
ACqhÂU“rB°O=B³GdÀ\KAyUÂÍ+AéBòºÁŸAÚtuÂÉ!PB