(Bint8_no_zero_y0JP¤v“”jEwp;_EÍmtt²_†u™kà‰ú*ÒUI,z)MÈ†ädvàÛnÍou¦d†p‹n¡
¹ˆ·Ô‘Ûh˜µŞ¯IBJf“w