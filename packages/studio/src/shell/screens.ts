/** The screens that the top bar and the palette lead to. */
export const screens = [
  { name: 'Runs', to: '/runs' },
  { name: 'Inbox', to: '/inbox' },
  { name: 'Chat', to: '/chat' },
  { name: 'Agents', to: '/agents' },
  { name: 'Artifacts', to: '/artifacts' },
  { name: 'Hosts', to: '/hosts' },
  { name: 'System', to: '/system' },
] as const;
