import { reply } from '../server/runs.ts';
export const start = reply;
