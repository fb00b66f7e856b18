import { b } from './b.ts';
export const d = b;
