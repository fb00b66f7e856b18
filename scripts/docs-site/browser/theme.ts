/** Sets the theme that was chosen in Studio or here, before anything is painted. */
const CHOSEN = 'cairn.theme';

try {
  const theme = localStorage.getItem(CHOSEN);
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {
  // A browser may refuse storage; the system decides then.
}
