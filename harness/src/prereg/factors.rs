use super::Arm;
use std::fmt;

/// Switches of which every combination is an arm: a factorial with two levels of each factor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Factorial {
    /// One to four, in the order of the file.
    pub factors: Vec<Factor>,
    /// The name of the arm of each combination: `2^k` of them, in the order of the number whose bit i says whether factor
    /// i is at its second level. The first is the baseline, the last has every factor at its second level.
    pub arms: Vec<String>,
}

/// A switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Factor {
    /// Its name: as the identity of an experiment.
    pub name: String,
    /// What its levels are called; the first is the baseline's.
    pub levels: [String; 2],
}

/// What is asked of a factorial beyond two of its arms. All of it is about means, and linear in them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// One factor at its second level against its first, averaged over the levels of the others.
    Main(String),
    /// Several factors at their second level against what their effects one by one, and the interactions among fewer of
    /// them, add up to; averaged over the levels of the others. Two or more, in the order of the factors.
    Interaction(Vec<String>),
    /// Every factor at its second level against what the effects one by one add up to. A relative margin is a share of
    /// the gain that they add up to, not of the control.
    Additivity,
}

impl fmt::Display for Effect {
    /// The spelling in a pre-registration: `main:c6`, `interaction:c5,c6`, `additivity`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Main(factor) => write!(f, "main:{factor}"),
            Self::Interaction(factors) => write!(f, "interaction:{}", factors.join(",")),
            Self::Additivity => f.write_str("additivity"),
        }
    }
}

impl Factorial {
    /// The levels of a combination, by factor.
    pub fn levels(&self, cell: usize) -> Vec<(&str, &str)> {
        let factors = self.factors.iter().enumerate();
        factors.map(|(i, it)| (it.name.as_str(), it.levels[cell >> i & 1].as_str())).collect()
    }

    /// The combination that an arm is.
    pub fn cell_of(&self, arm: &Arm) -> Option<usize> {
        self.arms.iter().position(|it| *it == arm.name)
    }

    /// The factors of an effect, as bits; all of them for additivity.
    pub fn switches(&self, effect: &Effect) -> usize {
        let bit = |name: &String| self.factors.iter().position(|it| it.name == *name).map_or(0, |i| 1 << i);
        match effect {
            Effect::Main(factor) => bit(factor),
            Effect::Interaction(factors) => factors.iter().map(bit).sum(),
            Effect::Additivity => self.arms.len() - 1,
        }
    }

    /// Every effect there is: of one factor, of two, of three and so on, and whether the whole adds up.
    pub fn effects(&self) -> Vec<Effect> {
        let mut switches: Vec<usize> = (1..self.arms.len()).collect();
        switches.sort_by_key(|it| it.count_ones());
        let named = |switches: usize| -> Vec<String> {
            let on = self.factors.iter().enumerate().filter(|(i, _)| switches >> i & 1 == 1);
            on.map(|(_, it)| it.name.clone()).collect()
        };
        let mut effects: Vec<Effect> = switches
            .into_iter()
            .map(|it| match named(it).as_slice() {
                [one] => Effect::Main(one.clone()),
                several => Effect::Interaction(several.to_vec()),
            })
            .collect();
        effects.extend((self.factors.len() > 1).then_some(Effect::Additivity));
        effects
    }

    /// What an effect compares, in words that no arm can be called: the treatment and the control.
    pub fn sides(&self, effect: &Effect) -> [String; 2] {
        match effect {
            Effect::Main(factor) => {
                let levels = self.factors.iter().find(|it| it.name == *factor).map(|it| &it.levels);
                [1, 0].map(|i| format!("{factor}={}", levels.map_or("", |it| it[i].as_str())))
            }
            Effect::Interaction(factors) => {
                [format!("{} together", factors.join(" and ")), "their sum".to_owned()]
            }
            Effect::Additivity => ["all factors together".to_owned(), "the sum of each".to_owned()],
        }
    }
}
