"""What can be seen of a page, as JavaScript to evaluate in it."""

SMALLEST_CONTRAST = """(() => {
  const parts = color => {
    const [r, g, b, alpha = 1] = (color.match(/[\\d.]+/g) || [0, 0, 0, 0]).map(Number);
    return [r, g, b, alpha];
  };
  const over = (front, back) =>
    [0, 1, 2].map(i => front[i] * front[3] + back[i] * (1 - front[3])).concat(1);
  const light = color => color.slice(0, 3).map(c => c / 255)
    .map(c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const below = element => {
    const layers = [];
    for (let one = element; one; one = one.parentElement)
      layers.push(parts(getComputedStyle(one).backgroundColor));
    return layers.reduceRight((back, front) => over(front, back), [255, 255, 255, 1]);
  };
  const opacity = element => {
    let product = 1;
    for (let one = element; one; one = one.parentElement)
      product *= Number(getComputedStyle(one).opacity);
    return product;
  };
  const found = [...document.querySelectorAll('body *')].filter(element =>
    !element.closest('script, style, title') &&
    element.checkVisibility({opacityProperty: true, visibilityProperty: true}) &&
    [...element.childNodes].some(node => node.nodeType === 3 && node.data.trim()));
  return found.map(element => {
    const style = getComputedStyle(element);
    const color = parts(element.namespaceURI.endsWith('svg') ? style.fill : style.color);
    color[3] *= opacity(element);
    const back = below(element);
    const [one, other] = [light(over(color, back)), light(back)];
    const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    return [ratio, element.textContent.slice(0, 40)];
  }).sort((a, b) => a[0] - b[0])[0];
})()"""
"""The lowest contrast of a visible text with what lies below it, and how that text begins."""
