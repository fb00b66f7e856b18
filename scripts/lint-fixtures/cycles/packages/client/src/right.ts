import { base } from './base.ts';
export const right = base;
