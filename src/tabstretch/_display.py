class StretchDisplay: pass
