Bint8_channels_last_y0J#Ð¢ûÅ
ØòÑ¢ÙÐÚô>>‘(´á%ç)l¤¡$HÐP