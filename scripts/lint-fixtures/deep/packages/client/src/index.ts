import { id } from '@cairn/protocol';
import { inner } from '@cairn/protocol/src/id.ts'; // refused
import { dist } from '@cairn/protocol/dist/id.js'; // refused
import { beside } from '../../protocol/src/id.ts'; // refused
import { own } from './own.ts';
export const client = [id, inner, dist, beside, own];
