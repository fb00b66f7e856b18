import fastify from 'fastify';
import { createServer } from 'node:http';
import { step } from '../engine/step.ts';
import { store } from '../log/sqlite/store.ts';
export const reply = [fastify, createServer, step, store];
