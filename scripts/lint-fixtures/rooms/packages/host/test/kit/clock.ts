import { step } from '../../src/engine/step.ts';
export const clock = step;
