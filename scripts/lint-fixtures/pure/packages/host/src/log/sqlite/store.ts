export const at = Date.now(); // refused
export const soon = setImmediate(() => 1);
