export const seed = Date.now();
