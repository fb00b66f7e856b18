import { base } from './base.ts';
export const left = base;
