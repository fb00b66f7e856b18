import { id } from '../id.ts';
import { given } from './run.test.ts'; // refused
export const run = [id, given];
