/** All stories. */

import { commandScreens } from "./command-screens.ts";
import { day } from "./day.ts";
import type { Story } from "./story.ts";
import { writingDay } from "./writing-day.ts";

export const stories: readonly Story[] = [day, writingDay, commandScreens];
