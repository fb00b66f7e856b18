import type { a } from '../a.ts';
export const c = {} as typeof a;
