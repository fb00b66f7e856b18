import type { Row } from '../log/ports/rows.ts';
import { chain } from '../log/chain.ts'; // refused
import { reply } from '../server/runs.ts'; // refused
import { clock } from '../../test/kit/clock.ts'; // refused
import { RE2JS } from 're2js';
export const step = [{} as Row, chain, reply, clock, RE2JS];
