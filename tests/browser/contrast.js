() => {
  // Words whose colour stands out too little from what is behind them: 4.5 to 1, large ones 3 to 1 (WCAG AA).
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
  const luminance = (colour) => {
    const [r, g, b] = colour.slice(0, 3).map((part) => part / 255)
      .map((part) => part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const upwards = function* (element) {
    for (let at = element; at; at = at.parentElement) yield getComputedStyle(at);
  };
  const ground = (element) => [...upwards(element)].map((style) => rgba(style.backgroundColor)).reverse()
    .reduce((below, top) => over(top, below), [255, 255, 255, 1]);
  const poor = [];
  let looked = 0;
  const texts = document.createTreeWalker(document.querySelector(".stApp"), NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement, words = texts.currentNode.textContent.trim();
    const seen = element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
    if (!words || !seen || element.closest("script, style, [disabled], [aria-hidden=true]")) continue;
    const style = getComputedStyle(element);
    if (/material/i.test(style.fontFamily)) continue;
    looked += 1;
    const behind = ground(element), ink = rgba(style.color);
    ink[3] *= [...upwards(element)].reduce((share, at) => share * Number(at.opacity), 1);
    const pair = [luminance(over(ink, behind)), luminance(behind)];
    const ratio = (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    if (ratio < (large ? 3 : 4.5)) poor.push(`${ratio.toFixed(2)} ${words.slice(0, 60)}`);
  }
  return { looked, poor };
}
