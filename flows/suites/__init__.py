"""Work that one suite brings beside evaluation: curation, training, rollouts, yardsticks. May
import evaluate and below."""
