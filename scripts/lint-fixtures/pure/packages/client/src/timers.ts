export const wait = setTimeout(() => 1, 5);
