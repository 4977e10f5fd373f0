
Bbits4_40_32_zeros_y0J +6ÿ5;9°Âðºé:U¤á@PD3µeÄFÈ3¾É¿x0u=