export const began = Date.now();
