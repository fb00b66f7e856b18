import { d } from '@cairn/protocol';
export const base = d;
