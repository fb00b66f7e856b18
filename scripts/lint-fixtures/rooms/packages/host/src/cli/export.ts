import { client } from '@cairn/client'; // refused
import { chain } from '../log/chain.ts';
import { step } from '../engine/step.ts'; // refused
import { reply } from '../server/runs.ts'; // refused
export const exported = [client, chain, step, reply];
