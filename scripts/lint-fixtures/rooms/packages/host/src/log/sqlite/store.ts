import { DatabaseSync } from 'node:sqlite';
import { chain } from '../chain.ts';
import { step } from '../../engine/step.ts'; // refused
export const worker = new URL('./worker.ts', import.meta.url);
export const stolen = new URL('../../server/runs.ts', import.meta.url); // refused
export const store = [DatabaseSync, chain, step];
