"""Mistakes that people make when they port a model, planted in the zoo's ports, and how well `align` names them."""
