"""The settings that the authors of each published pipeline mean, told from its folder and class."""

from __future__ import annotations

OWN_SETTINGS: dict[str, tuple[float, ...]] = {
    "SD1.5": (50, 7.5, 512, 512, 1, 16.0),
    "SDXL-base-1.0": (50, 5.0, 1024, 1024, 1, 16.0),
    "SD3.5-large": (28, 7.0, 1024, 1024, 1, 16.0),
    "FLUX.1-dev": (28, 3.5, 1024, 1024, 1, 16.0),
    "FLUX.1-schnell": (4, 0.0, 1024, 1024, 1, 16.0),
    "FLUX.2-klein-4B": (4, 1.0, 1024, 1024, 1, 16.0),
    "Qwen-Image": (50, 4.0, 1024, 1024, 1, 16.0),
    "Z-Image": (50, 5.0, 1024, 1024, 1, 16.0),
    "Z-Image-Turbo": (9, 0.0, 1024, 1024, 1, 16.0),
    "PixArt-Sigma": (20, 4.5, 1024, 1024, 1, 16.0),
    "Sana-1600M": (20, 4.5, 1024, 1024, 1, 16.0),
    "Lumina2": (30, 4.0, 1024, 1024, 1, 16.0),
    "Chroma": (35, 5.0, 1024, 1024, 1, 16.0),
    "Wan2.1-T2V": (50, 5.0, 480, 832, 81, 16.0),
    "Wan2.2-T2V-A14B": (50, 5.0, 480, 832, 81, 16.0),
    "Wan2.2-TI2V-5B": (50, 5.0, 704, 1280, 121, 24.0),
    "LTX-Video-0.9.5": (50, 3.0, 512, 704, 161, 25.0),
    "LTX-Video-0.9.7": (50, 3.0, 512, 704, 161, 25.0),
    "LTX-2-19B": (30, 3.0, 512, 768, 121, 24.0),
    "CogVideoX-5b": (50, 6.0, 480, 720, 49, 8.0),
    "HunyuanVideo": (50, 6.0, 720, 1280, 129, 24.0),
    "HunyuanVideo-1.5-t2v": (50, 6.0, 48, 80, 121, 24.0),
    "Mochi-1": (64, 4.5, 480, 848, 19, 30.0),
    "AnimateDiff": (50, 7.5, 512, 512, 16, 8.0),
    "Wan2.1-I2V from a picture": (50, 5.0, 480, 832, 81, 16.0),
    "Wan2.2-I2V-A14B from a picture": (50, 5.0, 480, 832, 81, 16.0),
    "Wan2.2-TI2V-5B from a picture": (50, 5.0, 704, 1280, 121, 24.0),
    "LTX-Video-I2V from a picture": (50, 3.0, 512, 704, 161, 25.0),
    "LTX-Video-0.9.5 from a picture": (50, 3.0, 512, 704, 161, 25.0),
    "LTX-Video-0.9.7 from a picture": (50, 3.0, 512, 704, 161, 25.0),
    "LTX-2-19B from a picture": (30, 3.0, 512, 768, 121, 24.0),
    "CogVideoX-5b-I2V from a picture": (50, 6.0, 64, 64, 49, 8.0),
    "HunyuanVideo-1.5-i2v from a picture": (50, 6.0, 48, 80, 121, 24.0),
    "SVD-img2vid-xt from a picture": (25, 3.0, 576, 1024, 25, 7.0),
    "I2VGenXL from a picture": (50, 9.0, 704, 1280, 16, 16.0),
}
"""Steps, guidance, height, width, frames and frames a second. The sizes of HunyuanVideo-1.5 and of
CogVideoX from a picture are those of their reduced configs."""
