/** The screens that the top bar and the palette lead to. */
export const screens = [
  { name: 'Runs', to: '/runs' },
  { name: 'Inbox', to: '/inbox' },
] as const;
