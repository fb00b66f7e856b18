export const port = 'docs/page.md';
