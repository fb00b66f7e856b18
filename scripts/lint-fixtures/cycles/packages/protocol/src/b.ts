import { c } from './folder/c.ts';
export const b = c;
