export const homeless = true; // refused
