// For other packages here.
export {
  describePause,
  type Pause,
  type PausedCall,
  PauseSet,
  type PauseTarget,
  parsePauseTarget,
  pauseKey,
} from "./pause.ts";
