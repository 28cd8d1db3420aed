// A link marked data-turn changes the address as the page's own widgets do: Streamlit runs the page
// again for the new address, and nothing is loaded anew. Without this script it is a plain link.
if (!window.armillaryTurns) {
  window.armillaryTurns = true;
  document.addEventListener("click", (event) => {
    const link = event.target.closest && event.target.closest("a[data-turn]");
    if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    history.pushState({}, "", link.href);
    window.dispatchEvent(new PopStateEvent("popstate", { state: {} }));
    const main = document.querySelector("[data-testid=stMain]");
    if (main && link.pathname !== location.pathname) main.scrollTo(0, 0);
  });
}
