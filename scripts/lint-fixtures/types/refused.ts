export const first: number = [1, 2, 3][0];
