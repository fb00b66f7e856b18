import { describeSeeds } from './seeds.kit.ts';

describeSeeds(251, 500);
