"""The reference rows that the paper prints."""

#: Figures printed in the explanation tables of the paper (appendix H): means and modes over the negative class.
PAPER = {
    "german": {
        "duration": 19.21,
        "credit_amount": 2985.46,
        "age": 36.22,
        "checking_status": "no checking account",
        "purpose": "radio/television",
        "other_debtors": "none",
        "housing": "own",
    },
    "adult": {
        "age": 36.78,
        "education-num": 9.6,
        "capital-gain": 148.75,
        "capital-loss": 53.14,
        "hours-per-week": 38.84,
        "workclass": "Private",
        "marital-status": "Never-married",
        "occupation": "Adm-clerical",
        "relationship": "Not-in-family",
        "race": "White",
    },
    "fico": {
        "ExternalRiskEstimate": 72.21,
        "MSinceMostRecentTradeOpen": 9.2,
        "NumSatisfactoryTrades": 21.1,
        "PercentTradesNeverDelq": 89.98,
        "MaxDelq2PublicRecLast12M": 5.36,
        "PercentInstallTrades": 29.82,
        "NumInqLast6M": 0.6,
        "NumInqLast6Mexcl7days": 0.56,
        "NetFractionRevolvingBurden": 22.26,
        "NumRevolvingTradesWBalance": 2.95,
    },
}
