import { describeSeeds } from './seeds.kit.ts';

describeSeeds(1, 250);
