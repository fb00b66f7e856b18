export const reach = fetch;
export const wait = setTimeout(() => 1, 5); // refused
export const at = Date.now(); // refused
