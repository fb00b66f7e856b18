/** Vite puts the styles that a screen imports into the page. */
declare module '*.css';
