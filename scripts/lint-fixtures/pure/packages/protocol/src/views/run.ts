export const at = Date.now(); // refused
