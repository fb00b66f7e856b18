export const at = Date.now(); // refused
export const later = setTimeout(() => 1, 5); // refused
