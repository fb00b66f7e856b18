import { client } from '@cairn/client';
import { chain } from '../log/chain.ts'; // refused
import { reply } from '../server/runs.ts'; // refused
export const show = [client, chain, reply];
