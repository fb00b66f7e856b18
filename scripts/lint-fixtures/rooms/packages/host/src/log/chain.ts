import { hash } from 'node:crypto';
import { randomUUID } from 'node:crypto'; // refused
import * as all from 'node:crypto'; // refused
import { open } from 'node:fs'; // refused
export const chain = [hash, randomUUID, all, open];
