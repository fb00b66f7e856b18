export const at = Date.now(); // refused
export const drained = setImmediate(() => 1);
