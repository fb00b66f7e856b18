import { z } from 'zod';
import { readFileSync } from 'node:fs'; // refused
import { hash } from 'crypto'; // refused
import fastify from 'fastify'; // refused
import type { Client } from '@cairn/client'; // refused
export * from './views/run.ts';
export type Late = import('@cairn/client').Late; // refused
export const later = (name: string) => import(name); // refused
export const id = z.string();
export const used = [readFileSync, hash, fastify, {} as Client];
const inText = "import x from 'node:net'"; // import y from 'node:tls'
export { inText };
