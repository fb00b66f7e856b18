import { used } from './part.ts';
export const entry = used;
