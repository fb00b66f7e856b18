import { left } from './left.ts';
import { right } from './right.ts';
export const diamond = [left, right];
