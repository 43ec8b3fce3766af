// Marks a region and its block together: while pointed at, and when chosen. `element` is given.
const partners = (node) => {
  const region = node.closest("a.region");
  if (region) return [region, element.querySelector(region.hash)];
  for (let block = node.closest(".reading [id]"); block; block = block.parentElement.closest(".reading [id]")) {
    const own = element.querySelector(`a.region[href="#${block.id}"]`);
    if (own) return [own, block];
  }
  return [];
};
const mark = (name, nodes) => {
  element.querySelectorAll(`.${name}`).forEach((node) => node.classList.remove(name));
  nodes.forEach((node) => node?.classList.add(name));
};
const scrolled = (node) => {
  for (let box = node?.parentElement; box && box !== element; box = box.parentElement)
    if (box.scrollHeight > box.clientHeight && getComputedStyle(box).overflowY === "auto") {
      const away = node.getBoundingClientRect().top - box.getBoundingClientRect().top;
      box.scrollTo({ top: box.scrollTop + away - 40, behavior: "smooth" });
      return;
    }
};
element.addEventListener("pointerover", (event) => mark("pointed", partners(event.target)));
element.addEventListener("pointerleave", () => mark("pointed", []));
element.addEventListener("click", (event) => {
  const region = event.target.closest("a.region");
  const [own, block] = partners(event.target);
  if (region) event.preventDefault();
  if (!own) return;
  mark("chosen", [own, block]);
  if (!region) scrolled(own);
  else if (block) {
    scrolled(block);
    block.tabIndex = -1;
    block.focus({ preventScroll: true });
  }
});
