export const hint = 'Read docs/page.md.';
export const stale = 'Read docs/gone.md.';
